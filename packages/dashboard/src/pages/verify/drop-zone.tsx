import { Button, FileButton, Stack, Text } from "@mantine/core";
import { type DragEvent, useState } from "react";
import { verify } from "../../text/verify.ts";
import classes from "./drop-zone.module.css";

/** Accepts dropped or chosen files. */
export function DropZone({ onFiles }: { onFiles: (files: File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    onFiles([...event.dataTransfer.files]);
  };
  return (
    <div
      className={classes["zone"]}
      data-over={isOver || undefined}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Stack align="center" gap="xs">
        <Text fw={600}>{verify.drop}</Text>
        <Text size="sm" c="dimmed">
          {verify.dropHint}
        </Text>
        <FileButton multiple onChange={onFiles} inputProps={{ "aria-label": verify.choose }}>
          {(props) => <Button {...props}>{verify.choose}</Button>}
        </FileButton>
      </Stack>
    </div>
  );
}
