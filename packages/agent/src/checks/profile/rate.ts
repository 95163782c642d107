/** With fewer, rates are rounded to hundredths: none is of one alone. */
const FINE = 1000;

/** Of 1,000. */
export function rate(part: number, of: number): number {
  const step = of < FINE ? 10 : 1;
  return Math.round((part / of) * (1000 / step)) * step;
}
