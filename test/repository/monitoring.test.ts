import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

// The files that a user imports into Prometheus and Grafana. promtool, Prometheus and the types of
// Grafana's dashboards have accepted them; see the commit that wrote them.

const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/monitoring/${name}`, import.meta.url)), 'utf8');

/** What `payments-journal stats --prometheus` prints, and the one metric of node_exporter. */
const metrics: Readonly<Record<string, readonly string[]>> = {
  payments_journal_open: ['state'],
  payments_journal_oldest_open_seconds: [],
  payments_journal_open_amount: ['currency'],
  node_textfile_mtime_seconds: ['file'],
};
const states = ['sending', 'ambiguous', 'unreadable'];

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}
const alerts = (parse(read('alerts.yml')) as Rules).groups.flatMap(({ rules }) => rules);
const { panels } = JSON.parse(read('dashboard.json')) as {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
};
const expressions = [...alerts, ...panels.flatMap(({ targets }) => targets)].map(
  ({ expr }) => expr,
);

test.each(expressions)(
  'the monitoring expression %s uses an existing metric and labels',
  (expr) => {
    const named = [...expr.matchAll(/\b([a-z]+_[a-z_]+)(?:\{(.*?)\})?/g)];
    expect(named.length).toBeGreaterThan(0);
    for (const [, name = '', selector = ''] of named) {
      expect(Object.keys(metrics)).toContain(name);
      const matchers = [...selector.matchAll(/(\w+)(?:=~?)"([^"]*)"/g)];
      const grouped = [...expr.matchAll(/\bby \((\w+)\)/g)].map(([, label]) => label);
      const labels = [...matchers.map(([, label]) => label), ...grouped];
      expect(metrics[name]).toEqual(expect.arrayContaining(labels));
      const values = matchers.filter(([, label]) => label === 'state').map(([, , value]) => value);
      expect(states).toEqual(
        expect.arrayContaining(values.flatMap((each) => each?.split('|') ?? [])),
      );
    }
  },
);

test("every alert names the operator's next command and uses existing labels", () => {
  expect(alerts.map(({ alert }) => alert)).toHaveLength(4);
  for (const { annotations } of alerts) {
    expect(annotations['description']).toContain('`payments-journal list');
    const used = [
      ...Object.values(annotations)
        .join()
        .matchAll(/\$labels\.(\w+)/g),
    ];
    const labels = [...Object.values(metrics).flat(), 'instance'];
    expect(labels).toEqual(expect.arrayContaining(used.map(([, label]) => label)));
  }
});

test('the alert for old payments fires after 20 minutes', () => {
  const expr = alerts.map((each) => each.expr).find((each) => each.includes('oldest'));
  // 17 minutes are totalTimeout plus gracePeriod: docs/operate.md.
  expect(Number(expr?.split('>')[1])).toBe(20 * 60);
});
