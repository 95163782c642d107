import { Text, TextInput, useMantineColorScheme } from "@mantine/core";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useId, useState } from "react";
import { useMayManage, useMe } from "../../api/session.ts";
import { startRun } from "../../api/start-run.ts";
import { receiptListQuery } from "../../pages/receipts/queries.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { palette as text } from "../../text/palette.ts";
import { groupsFor } from "../navigation.ts";
import { useShellOverview } from "../use-counts.ts";
import { matching, type PaletteItem, paletteItems } from "./palette-items.ts";
import classes from "./palette.module.css";

/** Finds pages, sources, agents and receipts by name, and does what people do most. */
export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  return (
    <Dialog opened onClose={onClose} title={text.title} size="wide">
      <Finder onClose={onClose} onHelp={onHelp} />
    </Dialog>
  );
}

function Finder({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const listId = useId();
  const found = matching(useItems(), typed);
  const chosen = Math.min(at, found.length - 1);
  const { choose, error } = useChoose({ onClose, onHelp });
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) {
      event.preventDefault();
      setAt((chosen + step + found.length) % found.length);
    }
    const item = found[chosen];
    if (event.key === "Enter" && item !== undefined) {
      event.preventDefault();
      choose(item);
    }
  };
  return (
    <>
      <TextInput
        data-autofocus
        aria-label={text.label}
        placeholder={text.placeholder}
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={found.length > 0 ? `${listId}-${chosen}` : undefined}
        autoComplete="off"
        leftSection={<Icon name="search" size={16} />}
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Text size="sm" c="dimmed" role="status" my={6}>
        {found.length === 0 ? text.none : text.found(found.length)}
      </Text>
      {error !== null && <FailurePanel error={error} />}
      <div id={listId} role="listbox" aria-label={text.results}>
        {found.map((item, index) => (
          <div
            key={item.id}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={classes["item"]}
            onPointerMove={() => setAt(index)}
            onClick={() => choose(item)}
            onKeyDown={onKeyDown}
          >
            <Icon name={item.icon} />
            <span className={classes["label"]}>{item.label}</span>
            <span className={classes["kind"]}>{item.kind.split(",")[0]}</span>
          </div>
        ))}
      </div>
    </>
  );
}

function useItems(): PaletteItem[] {
  const { user, org, impersonated_by } = useMe();
  const mayManage = useMayManage();
  const overview = useShellOverview();
  const { data } = useInfiniteQuery({
    ...receiptListQuery(org?.id ?? "", {}),
    enabled: org !== null && impersonated_by === null,
  });
  return paletteItems({
    places: groupsFor(user.role).flatMap(({ places }) => places),
    overview,
    receipts: data?.pages.flatMap(({ items }) => items) ?? [],
    mayManage,
  });
}

function useChoose({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const router = useRouter();
  const { org } = useMe();
  const { setColorScheme } = useMantineColorScheme();
  const go = (href: string): void => {
    onClose();
    void router.navigate({ href });
  };
  const start = useMutation({
    mutationFn: ({ sourceId, kind }: { sourceId: string; kind: "backup" | "restore_test" }) =>
      startRun(org?.id ?? "", sourceId, kind),
    // Its page shows how far it is.
    onSuccess: (_id, { sourceId }) => go(`/sources/${sourceId}`),
  });
  const choose = ({ choice }: PaletteItem): void => {
    if ("go" in choice) go(choice.go);
    else if ("run" in choice) start.mutate({ sourceId: choice.sourceId, kind: choice.run });
    else if ("help" in choice) onHelp();
    else {
      setColorScheme(choice.scheme);
      onClose();
    }
  };
  return { choose, error: start.error };
}
