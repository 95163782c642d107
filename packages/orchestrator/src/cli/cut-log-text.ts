import { plural } from "@attestore/proof";
import type { CutLog } from "../log/recovery/lost-heads.ts";

export function logJson({ orgId, left, lost }: CutLog): object {
  return {
    org_id: orgId,
    left:
      left === null
        ? null
        : {
            slug: left.slug,
            log_id: left.origin,
            tree_size: left.size,
            root_hash: left.root,
            newest_at: left.newestAt.toISOString(),
          },
    lost: lost.map(({ origin, size, root, where }) => ({
      log_id: origin,
      tree_size: size,
      root_hash: root,
      known_from: where,
    })),
  };
}

export function logText({ orgId, left, lost }: CutLog): string {
  const lines = lost.map(
    ({ size, root, where }) =>
      `  lost: the head of ${plural(size, "entry", "entries")}, root ${root} (known from ${where.join(", ")})`,
  );
  if (left === null) return [`${orgId}: the database does not know this organisation`, ...lines].join("\n");
  const most = lost.at(-1)?.size ?? 0;
  const count =
    most > left.size
      ? `at least ${plural(most - left.size, "entry is", "entries are")} lost`
      : "it went on with other entries";
  return [
    `${orgId} (${left.slug}): ${count}`,
    `  left: ${plural(left.size, "entry", "entries")} up to ${left.newestAt.toISOString()}, root ${left.root}`,
    ...lines,
  ].join("\n");
}
