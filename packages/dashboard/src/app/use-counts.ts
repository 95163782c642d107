import type { Schemas } from "@attestore/contract/client";
import { useQuery } from "@tanstack/react-query";
import { useMe } from "../api/session.ts";
import { overviewQuery } from "../api/overview.ts";
import { strings } from "../text/strings.ts";

/** What the navigation says beside a page's name. */
export interface Count {
  shown: number;
  /** What is counted, for screen readers. */
  label: string;
  /** Whether it asks for attention. */
  isTrouble: boolean;
}

const words = strings.navigation.counts;

/**
 * What home shows, for the frame around every page. Undefined for readers, who may not see it, and
 * while an operator acts as a member: each call adds an entry to the organisation's log.
 */
export function useShellOverview(): Schemas["Overview"] | undefined {
  const { user, org, impersonated_by } = useMe();
  return useQuery({
    ...overviewQuery(org?.id ?? "", 30),
    enabled: org !== null && user.role !== "reader" && impersonated_by === null,
  }).data;
}

/** Counts by page. */
export function useCounts(): Readonly<Record<string, Count | undefined>> {
  const data = useShellOverview();
  if (data === undefined) return {};
  const { sources, agents } = data;
  const broken = sources.filter(({ state }) => state === "failed" || state === "missed").length;
  const silent = agents.filter(({ is_silent }) => is_silent).length;
  const running = sources.flatMap((source) => source.running).length;
  return {
    "/sources":
      broken > 0
        ? { shown: broken, label: words.broken(broken), isTrouble: true }
        : { shown: sources.length, label: words.all(sources.length), isTrouble: false },
    "/agents":
      silent > 0
        ? { shown: silent, label: words.silent(silent), isTrouble: true }
        : { shown: agents.length, label: words.all(agents.length), isTrouble: false },
    "/commands":
      running > 0 ? { shown: running, label: words.underWay(running), isTrouble: false } : undefined,
  };
}
