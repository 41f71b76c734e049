/** The columns of a file of an extract. */
export interface TableShape {
  readonly file: string;
  readonly columns: readonly string[];
  readonly optional?: readonly string[];
}
