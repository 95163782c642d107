import { isDeepStrictEqual } from "node:util";
import { replaceJsonFile } from "@attestore/host/durable-files";
import type { Identity } from "../engines/engine.ts";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";
import { readSourceIds } from "../state/source-ids.ts";
import { spoolEvent } from "./spooled-event.ts";

/** The databases that a source of this host may be. */
export interface SourcePin {
  /** The first one seen, and those that a person has confirmed since, newest last. */
  readonly accepted: readonly { readonly identity: Identity; readonly since: string }[];
  /** Another database, found under the source's name, that nobody has confirmed. */
  readonly met: { readonly identity: Identity; readonly at: string; readonly in: string } | null;
}

/** By source name. */
export async function readSourcePins(layout: Layout): Promise<ReadonlyMap<string, SourcePin>> {
  const value = (await readJson(layout.sourcePins)) as { sources: Record<string, SourcePin> } | null;
  return new Map(Object.entries(value?.sources ?? {}));
}

/**
 * Compares a source's identity with the pinned one. The first identity is pinned. One that differs
 * from the newest accepted one (for a backup), or from all of them (for a restore test, which may
 * be of an older backup), is kept for a person to decide and reported once. The caller holds the
 * `work` lock.
 * @returns whether it is an accepted one
 */
export async function holdToPin(
  layout: Layout,
  slug: string,
  {
    identity,
    seenIn,
    isNow,
  }: { readonly identity: Identity; readonly seenIn: string; readonly isNow: boolean },
): Promise<boolean> {
  const pins = await readSourcePins(layout);
  const pin = pins.get(slug) ?? { accepted: [], met: null };
  const at = new Date().toISOString();
  if (pin.accepted.length === 0) {
    await write(layout, pins, slug, { accepted: [{ identity, since: at }], met: null });
    return true;
  }
  const allowed = isNow ? pin.accepted.slice(-1) : pin.accepted;
  const known = allowed.findLast((each) => isSame(each.identity, identity));
  if (known !== undefined) {
    const fuller = { ...known.identity, ...identity };
    const accepted = pin.accepted.map((each) => (each === known ? { ...each, identity: fuller } : each));
    // The source is the known database again, so nothing is left to confirm.
    const met = isNow ? null : pin.met;
    if (!isDeepStrictEqual({ accepted, met }, { accepted: pin.accepted, met: pin.met }))
      await write(layout, pins, slug, { accepted, met });
    return true;
  }
  if (pin.met === null || !isDeepStrictEqual(pin.met.identity, identity)) {
    const sourceId = (await readSourceIds(layout)).get(slug);
    await spoolEvent(layout, `identity-${slug}-${at.toLowerCase().replaceAll(/[:.]/g, "-")}`, {
      kind: "attestation_failed",
      ...(sourceId === undefined ? {} : { source_id: sourceId }),
      occurred_at: at,
      detail: {
        reason: "identity_changed",
        detail: `${slug} is not the database that is pinned on this host (${seenIn})`,
        pinned: pin.accepted.at(-1)?.identity ?? null,
        met: identity,
      },
    });
    await write(layout, pins, slug, { ...pin, met: { identity, at, in: seenIn } });
  }
  return false;
}

/** Fields that earlier versions did not record: if one side lacks one, it is not compared. */
const ADDED: readonly string[] = ["database_oid"];

function isSame(pinned: Identity, met: Identity): boolean {
  const compared = (one: Identity, other: Identity): Identity =>
    Object.fromEntries(Object.entries(one).filter(([name]) => name in other || !ADDED.includes(name)));
  return isDeepStrictEqual(compared(pinned, met), compared(met, pinned));
}

/**
 * Records that a person accepts the database that was found. The caller holds the `work` lock.
 * Returns null if none was found.
 */
export async function confirmIdentity(layout: Layout, slug: string): Promise<SourcePin | null> {
  const pins = await readSourcePins(layout);
  const pin = pins.get(slug);
  if (pin === undefined || pin.met === null) return null;
  const accepted = [...pin.accepted, { identity: pin.met.identity, since: new Date().toISOString() }];
  const confirmed = { accepted, met: null };
  await write(layout, pins, slug, confirmed);
  return confirmed;
}

/** For people: `system_identifier 7123…, database shop`. */
export function formatIdentity(identity: Identity): string {
  return Object.entries(identity)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

async function write(
  layout: Layout,
  pins: ReadonlyMap<string, SourcePin>,
  slug: string,
  pin: SourcePin,
): Promise<void> {
  const sources = Object.fromEntries([...pins, [slug, pin]]);
  await replaceJsonFile(layout.sourcePins, { v: 1, sources });
}
