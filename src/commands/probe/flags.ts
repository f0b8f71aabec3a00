import { isWellFormedId } from '../../internal/formats.ts';
import { parseFlags, UsageError } from '../program.ts';

export const usage = `Usage: payments-probe [options]

Finds out on your platform what the API reference does not define and decides about money. Sends
at most 100 requests, 4 a second, and only reads, unless you pass --pay: docs/going-live.md.

Options:
  --pay <amount>      make one transfer of this amount, such as 0.01, and look for it in the list
  --from <id>         of --pay: the Account that the money leaves
  --to <id>           of --pay: another Account of your own
  --pay-twice         of --pay: try Idempotency-Key, too; makes up to three transfers, of this
                      amount and of the next one (0.01 and 0.02)
  --yes               of --pay: do not ask
  --json              print JSON, for programs and tickets
  --version           print the version and exit
  --help              print this text and exit

Needs PAYMENTS_BASE_URL and PAYMENTS_API_KEY.
Status: 0 done, 1 the platform does not respond or rejects the credential, 2 wrong arguments,
3 an assumption of the SDK does not hold.
`;

const options = {
  pay: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  'pay-twice': { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

export type Command = ReturnType<typeof readCommand>;

/** @throws UsageError for wrong arguments */
export function readCommand(args: string[]) {
  const { values } = parseFlags(args, options);
  if (values.help) return { name: 'help' } as const;
  if (values.version) return { name: 'version' } as const;
  const { pay, from, to, yes, json, 'pay-twice': twice } = values;
  if (pay === undefined) {
    const orphan = Object.entries({ from, to, 'pay-twice': twice }).find(([, value]) =>
      Boolean(value),
    );
    if (orphan !== undefined) throw new UsageError(`--${orphan[0]} needs --pay.`);
    return { name: 'probe' as const, order: undefined, yes, json };
  }
  // The amount must have the same form as in the client, because a mistake costs money here.
  if (!/^(?=.*[1-9])(0|[1-9]\d{0,29})(\.\d{1,18})?$/.test(pay)) {
    throw new UsageError(`--pay takes a decimal above zero, such as 0.01, and not "${pay}".`);
  }
  const order = { amount: pay, from: readAccount('from', from), to: readAccount('to', to), twice };
  if (order.from === order.to) throw new UsageError('--from and --to are the same Account.');
  return { name: 'probe' as const, order, yes, json };
}

function readAccount(flag: string, text: string | undefined): string {
  if (text === undefined)
    throw new UsageError(`--pay needs --${flag} <id>, an Account of your own.`);
  if (isWellFormedId('acc_', text)) return text;
  throw new UsageError(`--${flag} takes the id of an Account, acc_…, and not "${text}".`);
}
