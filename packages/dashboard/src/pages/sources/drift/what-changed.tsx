import { Anchor, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useOrgId } from "../../../api/session.ts";
import { Age, useNow } from "../../../parts/marks/age.tsx";
import { sourceText } from "../../../text/sources.ts";
import { driftQuery, type SourceDetail } from "../queries.ts";
import { changeWords } from "./change-words.ts";

const text = sourceText.drift;
const RECENT_MS = 30 * 86_400_000;

/** The newest change from one backup to the next, if it is of the last 30 days. */
export function WhatChanged({ source }: { source: SourceDetail }) {
  const { data } = useInfiniteQuery(driftQuery(useOrgId(), source.id));
  const now = useNow();
  const all = data?.pages[0]?.items ?? [];
  const [newest] = all;
  if (newest === undefined || now.getTime() - Date.parse(newest.since) > RECENT_MS) return null;
  const together = all.filter(
    ({ backup_id, since }) => backup_id === newest.backup_id && since === newest.since,
  );
  return (
    <Text size="sm">
      <b>{text.lately}:</b> {together.map(changeWords).join("; ")}, <Age at={newest.since} />.{" "}
      <Anchor
        inherit
        underline="always"
        renderRoot={(props) => (
          <Link
            to="/sources/$sourceId"
            params={{ sourceId: source.id }}
            search={{ tab: "drift" }}
            resetScroll={false}
            {...props}
          />
        )}
      >
        {text.see}
      </Anchor>
    </Text>
  );
}
