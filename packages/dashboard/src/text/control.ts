import type { NegativeControl } from "@attestore/proof";
import { formatMoment } from "./format.ts";

/** One line each; none if the check was never tried on ruined data. */
export function controlText(control: NegativeControl | undefined): string[] {
  if (control === undefined) return [];
  const { at, noticed, not_noticed } = control;
  return [
    ...(noticed[0] === undefined
      ? []
      : [`Last shown to fail on ${formatMoment(new Date(at))}, by ${noticed[0]}`]),
    ...(noticed.length === 0 && not_noticed.length > 0 ? ["Noticed nothing that was tried"] : []),
    ...not_noticed.map((how) => `Would not notice ${how}`),
  ];
}
