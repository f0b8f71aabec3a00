// OpenTelemetry spans of a payment: one for the call, and below it one for every attempt with its
// outcome. Run unchanged, it pays on a sandbox and prints the spans.
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Span,
} from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import {
  isPaymentsError,
  PaymentsClient,
  type Hooks,
  type RequestOptions,
} from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const tracer = trace.getTracer('payments');

/** Creates hooks with a span for every attempt. They run in the context of the call, so its span is the parent. */
export function createTracingHooks(): Hooks {
  // One open attempt per concurrent call.
  const openSpans = new Map<number, Span>();
  return {
    onRequest({ call, method, path, operation, attempt }) {
      const attributes = {
        'http.request.method': method,
        'url.template': path,
        'http.request.resend_count': attempt - 1,
        'payments.operation': operation,
      };
      openSpans.set(
        call,
        tracer.startSpan(`${method} ${path}`, { kind: SpanKind.CLIENT, attributes }),
      );
    },
    onResponse({ call, status, requestId, outcome, reason }) {
      const span = openSpans.get(call);
      openSpans.delete(call);
      span?.setAttribute('payments.outcome', outcome);
      if (status !== undefined) span?.setAttribute('http.response.status_code', status);
      if (requestId !== undefined) span?.setAttribute('payments.request_id', requestId);
      if (outcome !== 'ok') span?.setStatus({ code: SpanStatusCode.ERROR, message: reason ?? '' });
      span?.end();
    },
    onRetry({ delayMs, reason }) {
      trace.getActiveSpan()?.addEvent('wait before the next attempt', { delayMs, reason });
    },
  };
}

/** Makes a call within a new span, and sends the context of the span to the platform. */
export function traceCall<T>(
  name: string,
  call: (options: RequestOptions) => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, async (span) => {
    const headers: Record<string, string> = {};
    propagation.inject(context.active(), headers);
    try {
      const result = await call({ headers });
      span.setAttribute('payments.outcome', 'ok');
      return result;
    } catch (error) {
      if (isPaymentsError(error)) span.setAttribute('payments.outcome', error.outcome);
      if (error instanceof Error) span.recordException(error);
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

if (import.meta.main) {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();

  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  const from = sandbox.accounts.create({ entityId }).id;
  const to = sandbox.accounts.create({ entityId }).id;
  sandbox.accounts.fund(from, '100.00');
  const payments = new PaymentsClient({ ...sandbox.clientOptions, hooks: createTracingHooks() });
  const input = { sourceAccountId: from, destinationAccountId: to, amount: '10.00' };

  // The first payment gets a 429 and is sent again. The response to the second is lost, during a read.
  const { faults } = sandbox;
  faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 429 } });
  await traceCall('pay', (options) => payments.transfers.create(input, options));
  faults.add({ operation: 'transfers.create', fault: { kind: 'reset', when: 'after_commit' } });
  await Promise.allSettled([
    traceCall('pay again', (options) => payments.transfers.create(input, options)),
    traceCall('look', (options) => payments.accounts.get(from, options)),
  ]);

  for (const span of exporter.getFinishedSpans()) {
    const { name, status, attributes, events, parentSpanContext: parent } = span;
    const id = span.spanContext().spanId;
    console.log(JSON.stringify({ id, parent: parent?.spanId, name, status, attributes, events }));
  }
  await provider.shutdown();
}
