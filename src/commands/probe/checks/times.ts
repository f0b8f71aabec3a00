import { parseCreatedAt } from '../../../search/compare.ts';

/** How far the clocks of one platform may differ. The client tolerates the same difference. */
export const tolerableMs = 120_000;

export const exactTime = (createdAt: unknown): number => parseCreatedAt(createdAt).earliest;
