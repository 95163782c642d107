import type { CheckOutcome, NegativeControl } from "@attestore/proof";
import { clip } from "./clip.ts";

/** How a check reacted to data that was ruined in one way. */
export interface Tried {
  /** Names the way: `an empty public.orders`. */
  readonly how: string;
  readonly result: "noticed" | "not_noticed" | "not_tried";
  /** Why it was not tried. */
  readonly reason?: string;
}

/** A receipt has room for this many ways of each result. */
const MAX_WAYS = 8;
const MAX_TEXT = 200;

export function negativeControl(tried: readonly Tried[], at: string): NegativeControl {
  const texts = (wanted: Tried["result"]): string[] => {
    const all = tried.filter(({ result }) => result === wanted);
    const named = all
      .slice(0, MAX_WAYS)
      .map(({ how, reason }) =>
        clip((reason === undefined ? how : `${how}: ${reason}`).toWellFormed(), MAX_TEXT),
      );
    return all.length > MAX_WAYS ? [...named, `${all.length - MAX_WAYS} more`] : named;
  };
  return {
    at,
    noticed: texts("noticed"),
    not_noticed: texts("not_noticed"),
    not_tried: texts("not_tried"),
  };
}

/** For people, one line each; none for a check that noticed everything that was tried. */
export function negativeControlLines({ negative_control: control }: CheckOutcome): string[] {
  if (control === undefined) return [];
  const { noticed, not_noticed } = control;
  return [
    ...(noticed.length === 0 && not_noticed.length > 0
      ? ["noticed nothing that was tried: a check that cannot fail proves nothing"]
      : []),
    ...not_noticed.map((how) => `would not notice ${how}`),
  ];
}
