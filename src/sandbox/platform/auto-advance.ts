import { countEntity, stepEntity } from './entities.ts';
import type { Platform } from './platform.ts';
import { countTransfer, stepTransfer } from './transfers.ts';

/** Lets Transfers and Entities move on by themselves, as far as the platform's schedule is on. */
export function live(platform: Platform): void {
  platform.schedule.step = (id) => {
    const transfer = platform.transfers.find(id);
    const entity = platform.entities.find(id);
    if (transfer !== undefined) stepTransfer(platform, transfer);
    if (entity !== undefined) stepEntity(platform, entity);
    platform.changed();
  };
}

/** Starts every count anew, for what was brought in from elsewhere. */
export function recount(platform: Platform): void {
  platform.schedule.clear();
  for (const row of platform.entities.all()) countEntity(platform, row);
  for (const row of platform.transfers.all()) countTransfer(platform, row);
}
