/**
 * Returns hexadecimal digits that depend on every character of a text, for made-up addresses, ids
 * and checksums that are the same in every run. The cryptographic hashes of web standards are
 * asynchronous, and secrecy is not needed.
 */
export function hashToHex(text: string, digits: number): string {
  let result = '';
  // Each round adds the eight digits of one 32-bit hash (FNV-1a), with a start of its own.
  for (let round = 0; result.length < digits; round += 1) {
    let hash = 0x811c9dc5 ^ Math.imul(round + 1, 0x9e3779b1);
    for (let at = 0; at < text.length; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
    // Without the last steps (those of MurmurHash3), texts that differ only at their end would get
    // similar digits.
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    result += ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, '0');
  }
  return result.slice(0, digits);
}
