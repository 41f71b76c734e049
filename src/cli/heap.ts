import { setFlagsFromString } from 'node:v8';

/**
 * V8 collects garbage once the heap has grown by a third, and first at 40 MB; by default it grew to four times the memory in
 * use. Young collections copy little, so their helper threads cost more than they save (bench/NOTES.md).
 */
const heapFlags = ['--heap-growing-percent=30', '--initial-old-space-size=40', '--no-parallel-scavenge'];

/** For commands that run long: the service, and imports of any size. */
export function keepHeapSmall(): void {
  for (const flag of heapFlags) setFlagsFromString(flag);
}
