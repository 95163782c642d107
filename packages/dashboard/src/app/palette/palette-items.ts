import type { Schemas } from "@attestore/contract/client";
import type { IconName } from "../../parts/marks/icon.tsx";
import { attach } from "../../text/attach.ts";
import { palette as text } from "../../text/palette.ts";
import { receipts as receiptText } from "../../text/receipts.ts";
import { sourceText } from "../../text/sources.ts";
import { strings } from "../../text/strings.ts";
import type { Destination } from "../navigation.ts";
import { engineName } from "../../text/engines.ts";

/** What choosing an item does. */
export type Choice =
  | { go: string }
  | { run: Schemas["CommandKind"]; sourceId: string }
  | { scheme: "auto" | "light" | "dark" }
  | { help: true };

export interface PaletteItem {
  id: string;
  label: string;
  /** What kind of thing it is, and words that find it too. */
  kind: string;
  icon: IconName;
  choice: Choice;
}

interface Known {
  places: readonly Destination[];
  overview: Schemas["Overview"] | undefined;
  receipts: readonly Schemas["ReceiptRecord"][];
  mayManage: boolean;
}

/** Everything that can be found, in the order in which it is shown if several match equally. */
export function paletteItems({ places, overview, receipts, mayManage }: Known): PaletteItem[] {
  const { sources = [], agents = [] } = overview ?? {};
  const nameOf = new Map(sources.map(({ id, name }) => [id, name]));
  return [
    ...places.map(({ to, label, icon }) => item(`page ${to}`, label, text.kinds.page, icon, { go: to })),
    ...sources.map(({ id, name, engine }) =>
      item(id, name, `${text.kinds.source}, ${engineName(engine)}`, "sources", { go: `/sources/${id}` }),
    ),
    ...agents.map(({ id, name }) => item(id, name, text.kinds.agent, "agents", { go: `/agents/${id}` })),
    ...(mayManage
      ? [
          item("attach", attach.title, text.kinds.action, "attach", { go: "/attach" }),
          ...sources.flatMap(({ id, name, last_backup_at }) => [
            run("backup", id, name),
            ...(last_backup_at === null ? [] : [run("restore_test", id, name)]),
          ]),
        ]
      : []),
    ...(["auto", "light", "dark"] as const).map((scheme) =>
      item(`scheme ${scheme}`, text.look(strings.account.schemes[scheme]), text.kinds.action, "settings", {
        scheme,
      }),
    ),
    item("help", text.help, text.kinds.action, "settings", { help: true }),
    ...receipts.map(({ id, source_id, kind, result }) =>
      item(
        id,
        `${receiptText.what[result ?? "backup"]}: ${nameOf.get(source_id) ?? source_id}`,
        `${text.kinds.receipt}, ${id}, ${kind}`,
        "receipts",
        { go: `/receipts/${id}` },
      ),
    ),
  ];
}

function run(kind: Schemas["CommandKind"], sourceId: string, name: string): PaletteItem {
  return item(`${kind} ${sourceId}`, `${sourceText.trigger[kind]}: ${name}`, text.kinds.action, "jobs", {
    run: kind,
    sourceId,
  });
}

function item(id: string, label: string, kind: string, icon: IconName, choice: Choice): PaletteItem {
  return { id, label, kind, icon, choice };
}

const SHOWN = 12;

/**
 * The items that have every typed word, those first whose label begins with what was typed; all
 * words of an empty text are in the first items.
 */
export function matching(items: readonly PaletteItem[], typed: string): PaletteItem[] {
  const wanted = typed.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = items.filter(({ label, kind }) => {
    const within = `${label} ${kind}`.toLowerCase();
    return words.every((word) => within.includes(word));
  });
  const rank = ({ label }: PaletteItem): number => {
    const at = label.toLowerCase();
    return at.startsWith(wanted) ? 0 : at.includes(wanted) ? 1 : 2;
  };
  return found.toSorted((a, b) => rank(a) - rank(b)).slice(0, SHOWN);
}
