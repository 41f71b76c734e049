/**
 * Metrics: the registry, the figures of the process and of the database, the listener for scrapes. Owns no table.
 *
 * Invariants: a scrape ends within seconds, also if the database is silent; no label holds an account, a member or an institution;
 * the counts of several workers add up, and an ended worker's stay.
 */
export { DatabaseFigures } from './database-figures.ts';
export { selectOperationalFigures } from './figure-queries.ts';
export { listenForScrapes, type MetricsListener } from './listener.ts';
export { watchProcess } from './process-figures.ts';
export { addUp, countsOf, type Family, Registry, type Sample } from './registry.ts';
export { watchSeams } from './watch-seams.ts';
