// Writes docs/api.md: `npx node docs/generators/api-list.ts`.
import { writeFileSync } from 'node:fs';
import { apiList } from './public-api.ts';

writeFileSync(new URL('../api.md', import.meta.url), apiList());
