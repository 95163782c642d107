import { Choice } from "../../parts/records/filter-bar.tsx";
import { sourceText } from "../../text/sources.ts";
import { type LabelFilter, type Labels, labelsOf } from "./labels.ts";

const text = sourceText.labels;

interface LabelFiltersProps {
  sources: readonly Labels[];
  filter: LabelFilter;
  onChange: (more: LabelFilter) => void;
}

/** Choices of an environment and a tag; none where no source has one. */
export function LabelFilters({ sources, filter, onChange }: LabelFiltersProps) {
  const { tags, environments } = labelsOf(sources);
  const { tag, environment } = filter;
  return (
    <>
      {(environments.length > 0 || environment !== undefined) && (
        <Choice
          label={text.environment}
          all={text.allEnvironments}
          value={environment}
          choices={choicesOf(environments, environment)}
          onChange={(next) => onChange({ environment: next })}
        />
      )}
      {(tags.length > 0 || tag !== undefined) && (
        <Choice
          label={text.tag}
          all={text.allTags}
          value={tag}
          choices={choicesOf(tags, tag)}
          onChange={(next) => onChange({ tag: next })}
        />
      )}
    </>
  );
}

/** With what a link chose, although no source has it any more: it filters all the same. */
function choicesOf(known: readonly string[], chosen: string | undefined) {
  const names = chosen === undefined || known.includes(chosen) ? known : [...known, chosen];
  return names.map((name) => [name, name] as const);
}
