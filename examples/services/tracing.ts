// OpenTelemetry: a span for each call of the client, and below it the spans of its requests, from the
// instrumentation of node:http. Run unchanged, it loses the response to a payment and prints the trace.
import { tracingChannel } from 'node:diagnostics_channel';
import { context, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';

/** What the client publishes of a call. */
interface Call {
  operation: string;
  method: string;
  path: string;
  reference?: string;
  outcome?: string;
  attempts?: number;
  requestId?: string;
  error?: Error;
}

/** Makes a span of each call of every client in this process; the requests of a call become its children. */
export function traceCalls(contexts: AsyncLocalStorageContextManager): void {
  const open = new WeakMap<Call, { span: Span; scope: { dispose(): void } }>();
  tracingChannel<unknown, Call>('payments-platform-sdk:call').subscribe({
    start(call) {
      const { operation, method, path } = call;
      const attributes = { 'http.request.method': method, 'url.template': path };
      const span = trace.getTracer('payments').startSpan(operation, { attributes });
      const scope = contexts.attach(trace.setSpan(context.active(), span));
      open.set(call, { span, scope });
    },
    end: (call) => open.get(call)?.scope.dispose(),
    asyncEnd(call) {
      const { span } = open.get(call) ?? {};
      for (const name of ['reference', 'outcome', 'attempts', 'requestId'] as const) {
        if (call[name] !== undefined) span?.setAttribute(`payments.${name}`, call[name]);
      }
      if (call.error) {
        span?.recordException(call.error);
        span?.setAttribute('error.type', call.error.name);
        span?.setStatus({ code: SpanStatusCode.ERROR, message: call.error.message });
      }
      span?.end();
    },
    asyncStart() {},
    error() {},
  });
}

if (import.meta.main) {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const contextManager = new AsyncLocalStorageContextManager();
  provider.register({ contextManager });
  // The sandbox of this example is a server in the same process.
  const http = new HttpInstrumentation({ ignoreIncomingRequestHook: () => true });
  registerInstrumentations({ instrumentations: [http] });
  traceCalls(contextManager);

  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  const from = sandbox.accounts.create({ entityId }).id;
  const to = sandbox.accounts.create({ entityId }).id;
  sandbox.accounts.fund(from, '100.00');
  const server = await listen(sandbox, { port: 0 });
  const { apiKey } = sandbox;
  const payments = new PaymentsClient({
    baseUrl: server.baseUrl,
    apiKey,
    journal: memoryJournal(),
  });
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'reset', when: 'after_commit' },
  });
  const payment = { sourceAccountId: from, destinationAccountId: to, amount: '10.00' };
  await payments.transfers.createOnce({ ...payment, description: 'invoice 4711' });

  // A call starts before its requests.
  const spans = exporter
    .getFinishedSpans()
    .toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]);
  for (const span of spans) {
    const { traceId, spanId } = span.spanContext();
    console.log(`${span.name}, trace ${traceId}, span ${spanId}`);
    console.log(`  below ${span.parentSpanContext?.spanId ?? 'no other span'}`);
    for (const [name, value] of Object.entries(span.attributes)) {
      if (!/^(network|user_agent)/.test(name)) console.log(`  ${name} ${value}`);
    }
  }
  await provider.shutdown();
  await server.close();
}
