/*
 * Makes 2,000 reads at once, and prints how many succeeded. test/full/descriptors.test.ts runs it
 * where a process may open 256 files and connections.
 */
import { PaymentsClient } from '../../src/index.ts';

const [, , baseUrl] = process.argv;
const payments = new PaymentsClient({ baseUrl, apiKey: 'sk_test', maxRetries: 0 });
const reads = Array.from({ length: 2_000 }, () => payments.transfers.get('txfr_1'));
const results = await Promise.allSettled(reads);
const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
console.log(results.length - failures.length, String(failures[0] ?? ''));
