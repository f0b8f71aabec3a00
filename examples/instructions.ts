// Builds an instruction, and reads its executions on chain. The platform builds the payload, and your
// wallet submits it; here the sandbox acts as the wallet.
import { PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const sandbox = new Sandbox();
const payments = new PaymentsClient(sandbox.clientOptions); // these calls use its JWT
const address = '0x00000000000000000000000000000000000000aa';
const token = '0x00000000000000000000000000000000000000bb';

const built = await payments.instructions.build({
  address,
  chainId: 8453,
  salt: 9_007_199_254_740_993n, // beyond 2^53: a bigint, no digit is lost
  maxExecutions: 10,
  actionArguments: {
    refuelERC20: {
      token,
      target: '0x00000000000000000000000000000000000000cc',
      threshold: 1_000_000,
      endBalance: 5_000_000,
      fee: { token, maxBaseFeePerGas: 100, maxPriorityFeePerGas: 2, executionFee: 50 },
    },
  },
});
console.log('built with salt', built.salt);

const { instructionId } = sandbox.instructions.create({ address, ...built, nickname: 'Refuel' });
sandbox.instructions.execute(instructionId, { value: 4_000_000 });

for (const { nickname, executionState } of await payments.instructions.list({ address })) {
  console.log(nickname, 'has run', executionState.executionCounter, 'time(s)');
}
const history = payments.transactions.list({ address, instructionIds: [instructionId], take: 50 });
for await (const { activation, transactionStatus } of history) {
  console.log(activation ? 'activated:' : 'executed:', transactionStatus);
}
