import { createUnknownId, nouns, readList, readPages, type Listing, type Noun } from './lists.ts';
import type { Platform, Reading } from './platform.ts';

/** What reading shows; each part is read when a check first asks for it. */
export class Evidence {
  readonly platform: Platform;
  readonly #unknownIds = new Map<Noun['name'], Promise<Reading>>();

  /** Describes the TLS of a URL, which the client does not show. */
  readonly describeTls: (baseUrl: string) => Promise<string>;

  constructor(platform: Platform, describeTls: (baseUrl: string) => Promise<string>) {
    this.platform = platform;
    this.describeTls = describeTls;
  }

  list(name: Noun['name']): Promise<Listing> {
    return readList(this.platform, nounOf(name));
  }

  async lists(): Promise<{ readonly noun: Noun; readonly listing: Listing }[]> {
    const lists = [];
    for (const noun of nouns) lists.push({ noun, listing: await readList(this.platform, noun) });
    return lists;
  }

  filter(name: Noun['name'], parameter: string, value: string): Promise<Listing> {
    const pages = name === 'transfers' ? 10 : 3;
    return readPages(this.platform, nounOf(name).path, { [parameter]: value }, pages);
  }

  /** Reads a record that most likely does not exist. */
  async unknownId(name: Noun['name']): Promise<Reading> {
    const noun = nounOf(name);
    const { rows } = await this.list(name);
    const path = `${noun.path}/${createUnknownId(noun, rows)}`;
    const reading = this.#unknownIds.get(name) ?? this.platform.read(path);
    this.#unknownIds.set(name, reading);
    return reading;
  }

  async unknownIds(): Promise<{ readonly noun: Noun; readonly reading: Reading }[]> {
    const readings = [];
    for (const noun of nouns) readings.push({ noun, reading: await this.unknownId(noun.name) });
    return readings;
  }

  /** Reads with a cursor that is made up. */
  invalidCursor(): Promise<Reading> {
    return this.platform.get('/transfers', { limit: 100, cursor: 'payments-probe-no-cursor' });
  }
}

const nounOf = (name: Noun['name']): Noun => {
  const noun = nouns.find((each) => each.name === name);
  if (noun === undefined) throw new Error(`There is no list of ${name}.`);
  return noun;
};
