import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Where each kind of record has its page, by the prefix of its id. */
const PAGES = {
  src: "/sources",
  bkp: "/backups",
  rcpt: "/receipts",
  evt: "/events",
  cmd: "/commands",
  agent: "/agents",
  log: "/api-logs",
} as const;

/** A link to a record's own page; its id in plain text where it has none. */
export function RecordLink({
  id,
  children = id,
  inText = false,
}: {
  id: string;
  children?: ReactNode;
  /** Among other words: told apart from them by more than its colour. */
  inText?: boolean;
}) {
  const page = pageOf(id);
  if (page === null) return <>{children}</>;
  return (
    <Anchor
      inherit
      underline={inText ? "always" : "hover"}
      renderRoot={(props) => <Link to={page} {...props} />}
    >
      {children}
    </Anchor>
  );
}

function pageOf(id: string): string | null {
  const prefix = id.slice(0, Math.max(0, id.indexOf("_")));
  const page = Object.entries(PAGES).find(([known]) => known === prefix)?.[1];
  return page === undefined ? null : `${page}/${encodeURIComponent(id)}`;
}
