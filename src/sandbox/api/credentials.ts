import { SandboxError } from '../platform/sandbox-error.ts';

/** The API key for the endpoints under `/v0`, and the JWT for all others. */
type SandboxCredentials = ReturnType<typeof resolveCredentials>;

/**
 * Returns the credentials that a sandbox accepts: those in its options, or fixed ones that are
 * valid nowhere else.
 * @throws TypeError when a credential in the options does not have the platform's format.
 */
export function resolveCredentials(options: {
  apiKey?: string | undefined;
  jwt?: string | undefined;
}) {
  const {
    apiKey = 'sk_sandbox_0000000000000000',
    // The default has the form of a JWT, but its signature is the text "no signature".
    jwt = [JSON.stringify({ alg: 'none' }), JSON.stringify({ sub: 'sandbox' }), 'no signature']
      .map((part) => btoa(part).replaceAll('=', ''))
      .join('.'),
  } = options;
  if (!/^sk_[\x21-\x7e]{1,512}$/.test(apiKey)) {
    throw new TypeError('The apiKey of a sandbox must be "sk_" followed by visible characters.');
  }
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(jwt)) {
    throw new TypeError('The jwt of a sandbox must be three base64url parts, joined by dots.');
  }
  return { apiKey, jwt };
}

/** Returns the credential after "Bearer" in an Authorization header, or undefined without one. */
export const parseAuthorization = (authorization: string | null): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];

/**
 * Checks the credential of a request: endpoints under `/v0` need the API key, all others the JWT.
 * @throws SandboxError with status 401 if `token` is not the credential that the endpoint needs.
 */
export function authorise(
  api: 'versioned' | 'root',
  token: string | undefined,
  { apiKey, jwt }: SandboxCredentials,
): void {
  const [expected, other, expectedName, otherName, place] =
    api === 'versioned'
      ? [apiKey, jwt, 'API key', 'JWT', 'under /v0']
      : [jwt, apiKey, 'JWT', 'API key', 'without a version segment'];
  if (token === expected) return;
  let problem = 'The credential that arrived is not known';
  if (token === undefined) problem = 'No credential arrived';
  if (token === other) problem = `The ${otherName} arrived where the ${expectedName} belongs`;
  throw new SandboxError(
    // The client treats text after the word "Bearer" as a credential and hides it in its errors, so
    // this message ends with that word.
    `${problem}. Endpoints ${place} need the ${expectedName} in the Authorization header, after the word "Bearer".`,
    { code: 'unauthorized', status: 401 },
  );
}
