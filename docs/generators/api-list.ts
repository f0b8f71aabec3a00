// Writes docs/api.md: `npm run api-list`.
import { writeFileSync } from 'node:fs';
import { apiList } from './public-api.ts';

writeFileSync(new URL('../../docs/api.md', import.meta.url), apiList());
