// Runs test/drivers/interception.ts with the installed package, whose path is the argument.
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { checkEnvironmentProxy, checkMsw } from '../drivers/interception.ts';

const url = process.argv[2] ?? '';
const sdk = await import(url);
const interceptions = {
  msw: () => checkMsw(sdk, { http, HttpResponse, setupServer }),
  'a proxy of the environment': () => checkEnvironmentProxy(url),
};

for (const [name, intercept] of Object.entries(interceptions)) {
  try {
    await intercept();
    console.log(`caught by ${name}`);
  } catch (error) {
    console.log(`WRONG ${name}: ${error.stack}`);
    process.exitCode = 1;
  }
}
