// Writes docs/api.md and the table in docs/paying-once.md: `npx node docs/generators/api-list.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import { withDecisionTable } from './decision-table.ts';
import { apiList } from './public-api.ts';

writeFileSync(new URL('../api.md', import.meta.url), apiList());
const guide = new URL('../paying-once.md', import.meta.url);
writeFileSync(guide, withDecisionTable(readFileSync(guide, 'utf8')));
