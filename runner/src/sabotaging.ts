// What the runner and its hook for sabotage (src/sabotage.ts) say to each other.
import type { Place } from './hooks';
import type { Sabotage } from './protocol';

/** The method of the message by which a process says that it has done its sabotage to a try. */
export const doneMessage = '__tas_sabotaged__';

export interface Instructions extends Place {
  sabotage: Sabotage[];
}
