/** A webhook's secret while it is shown. */
export interface ShownSecret {
  title: string;
  secret: string;
}
