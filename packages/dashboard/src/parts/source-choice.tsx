import { useQuery } from "@tanstack/react-query";
import { useOrgId } from "../api/session.ts";
import { sourceListQuery } from "../api/source-list.ts";
import { receipts } from "../text/receipts.ts";
import { Choice } from "./filter-bar.tsx";
import { RecordLink } from "./record-link.tsx";

const text = receipts.filter;

/** One source, or all. One that was removed and is in the address is still a choice. */
export function SourceChoice({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const { data: sources = [] } = useQuery(sourceListQuery(useOrgId()));
  const choices = sources.map(({ id, name }) => [id, name] as const);
  const isKnown = value === undefined || sources.some(({ id }) => id === value);
  return (
    <Choice
      label={text.source}
      all={text.allSources}
      value={value}
      choices={isKnown ? choices : [...choices, [value, text.removed] as const]}
      onChange={onChange}
    />
  );
}

/** A source by its name, with a link to its page; by its id where it was removed. */
export function SourceName({ id }: { id: string }) {
  return (
    <RecordLink id={id}>
      <PlainSourceName id={id} />
    </RecordLink>
  );
}

/** The same in the midst of a text. */
export function PlainSourceName({ id }: { id: string }) {
  const { data: sources = [] } = useQuery(sourceListQuery(useOrgId()));
  return <>{sources.find((source) => source.id === id)?.name ?? id}</>;
}
