import { useQuery } from "@tanstack/react-query";
import { useOrgId } from "../../api/session.ts";
import { sourceListQuery } from "../../api/source-list.ts";
import { receipts } from "../../text/receipts.ts";
import { Choice } from "./filter-bar.tsx";
import { RecordLink } from "./record-link.tsx";

const text = receipts.filter;

/** A choice of one source or all. A removed source from the URL stays a choice. */
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

/** A link to a source by its name; the id if it was removed. */
export function SourceName({ id }: { id: string }) {
  return (
    <RecordLink id={id}>
      <PlainSourceName id={id} />
    </RecordLink>
  );
}

/** The same inside running text. */
export function PlainSourceName({ id }: { id: string }) {
  const { data: sources = [] } = useQuery(sourceListQuery(useOrgId()));
  return <>{sources.find((source) => source.id === id)?.name ?? id}</>;
}
