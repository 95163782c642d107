import { useQuery } from "@tanstack/react-query";
import { useOrgId } from "../../api/session.ts";
import { overviewQuery } from "../home/queries.ts";
import { SourceState } from "./source-state.tsx";

/** The source's state, as the home page and the list have it; nothing until that is known. */
export function StateNow({ sourceId }: { sourceId: string }) {
  const { data: source } = useQuery({
    ...overviewQuery(useOrgId(), 30),
    select: ({ sources }) => sources.find(({ id }) => id === sourceId),
  });
  return source === undefined ? null : <SourceState state={source.state} concerns={source.concerns} />;
}
