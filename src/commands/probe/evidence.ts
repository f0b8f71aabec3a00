import { isFilled } from './checks/verdict.ts';
import { createUnknownId, readTransfers, type Listing } from './lists.ts';
import type { PlatformReader, Reading } from './platform-reader.ts';

/** How many transfers the probe reads of the whole list, to find their order. */
export const sampleSize = 1_000;
/** 20 pages, because a platform may ignore `limit` and send 1,000 transfers in pages of 50. */
const wholePages = 20;
const accountPages = 10;

/** What checks read from the platform. A request is sent only when a check needs its response. */
export class Evidence {
  readonly platform: PlatformReader;

  constructor(platform: PlatformReader) {
    this.platform = platform;
  }

  /** The first transfers of the list without a filter. */
  transfers(limit = 100): Promise<Listing> {
    return readTransfers(this.platform, { pages: wholePages, maxRows: sampleSize, limit });
  }

  /** The transfers of one account, as a search of the client asks for them. */
  transfersOf(accountId: string, limit = 100): Promise<Listing> {
    return readTransfers(this.platform, { filter: { accountId }, pages: accountPages, limit });
  }

  /** The accounts that transfers were paid from, the most frequent account first. */
  async payers(): Promise<string[]> {
    const { rows } = await this.transfers();
    const counts = new Map<string, number>();
    for (const { sourceAccountId: id } of rows) {
      if (isFilled(id)) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return [...counts].toSorted(([, one], [, other]) => other - one).map(([id]) => id);
  }

  async unknownAccount(): Promise<string> {
    return createUnknownId('acc_', await this.payers());
  }

  /** The responses to ids that the platform does not know, and to a cursor that it never sent. */
  async errors(): Promise<readonly Reading[]> {
    const { rows } = await this.transfers();
    const ids = rows.map(({ id }) => id);
    return [
      await this.platform.get(`/transfers/${createUnknownId('txfr_', ids)}`),
      await this.platform.get(`/accounts/${await this.unknownAccount()}`),
      await this.platform.get('/transfers', { limit: 100, cursor: 'payments-probe-no-cursor' }),
    ];
  }
}
