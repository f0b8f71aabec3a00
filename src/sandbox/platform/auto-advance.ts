import { scheduleEntity, advanceEntity } from './entities.ts';
import type { Platform } from './platform.ts';
import { scheduleTransfer, advanceTransfer } from './transfers.ts';

/** Lets Transfers and Entities change their status automatically, if `autoAdvance` is set. */
export function enableAutoAdvance(platform: Platform): void {
  platform.schedule.step = (id) => {
    const transfer = platform.transfers.find(id);
    const entity = platform.entities.find(id);
    if (transfer !== undefined) advanceTransfer(platform, transfer);
    if (entity !== undefined) advanceEntity(platform, entity);
    platform.notifyChange();
  };
}

/** Schedules the next status change of every Transfer and Entity after the import of a state. */
export function restartTimers(platform: Platform): void {
  platform.schedule.clear();
  for (const row of platform.entities.all()) scheduleEntity(platform, row);
  for (const row of platform.transfers.all()) scheduleTransfer(platform, row);
}
