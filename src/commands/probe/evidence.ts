import { createUnknownId, nouns, readList, readPages, type Listing, type Noun } from './lists.ts';
import type { Platform, Reading } from './platform.ts';
import type { TlsFacts } from './tls.ts';

/** Reads the TLS version and the certificate of a server, which the client does not report. */
export type ReadTls = (baseUrl: string) => Promise<TlsFacts>;

/** A kind of record, and the pages that the probe has read of its list. */
export interface NounListing {
  readonly noun: Noun;
  readonly listing: Listing;
}

/** What checks read from the platform. A request is sent only when a check needs its response. */
export class Evidence {
  readonly platform: Platform;
  readonly #unknownIds = new Map<Noun['name'], string>();

  readonly readTls: ReadTls;

  constructor(platform: Platform, readTls: ReadTls) {
    this.platform = platform;
    this.readTls = readTls;
  }

  list(name: Noun['name']): Promise<Listing> {
    return readList(this.platform, nounOf(name));
  }

  async lists(): Promise<readonly NounListing[]> {
    const lists = [];
    for (const noun of nouns) lists.push({ noun, listing: await readList(this.platform, noun) });
    return lists;
  }

  /** Reads a list of one page again as two pages, to see a cursor. Undefined for any other list. */
  async halves(noun: Noun): Promise<Listing | undefined> {
    const { rows, readings, isComplete } = await readList(this.platform, noun);
    if (!isComplete || readings.length > 1 || rows.length < 2) return undefined;
    const limit = Math.ceil(rows.length / 2);
    return readPages(this.platform, noun.path, {}, { pages: 3, limit });
  }

  filter(name: Noun['name'], parameter: string, value: string): Promise<Listing> {
    const pages = name === 'transfers' ? 10 : 3;
    return readPages(this.platform, nounOf(name).path, { [parameter]: value }, { pages });
  }

  /** An id that most likely belongs to no record. Always the same id for one kind of record. */
  async unknownIdOf(name: Noun['name']): Promise<string> {
    const { rows } = await this.list(name);
    const id = this.#unknownIds.get(name) ?? createUnknownId(nounOf(name), rows);
    this.#unknownIds.set(name, id);
    return id;
  }

  async unknownIds(): Promise<{ readonly noun: Noun; readonly reading: Reading }[]> {
    const readings = [];
    for (const noun of nouns) {
      const id = await this.unknownIdOf(noun.name);
      readings.push({ noun, reading: await this.platform.get(`${noun.path}/${id}`) });
    }
    return readings;
  }

  /** Reads the list of transfers with a cursor that the platform has never sent. */
  invalidCursor(): Promise<Reading> {
    return this.platform.get('/transfers', { limit: 100, cursor: 'payments-probe-no-cursor' });
  }
}

const nounOf = (name: Noun['name']): Noun => {
  const noun = nouns.find((each) => each.name === name);
  if (noun === undefined) throw new Error(`There is no list of ${name}.`);
  return noun;
};
