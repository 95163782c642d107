import { CloseButton } from "@mantine/core";
import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { createPortal } from "react-dom";
import { strings } from "../../text/strings.ts";
import classes from "./dialog.module.css";

interface DialogProps {
  opened: boolean;
  title: string;
  /** `wide` has room for tables, and begins further up. */
  size?: "wide";
  children: ReactNode;
  onClose: () => void;
}

/**
 * A modal dialog. The browser keeps the focus in it and gives it back to the button that opened it;
 * Escape, and a press beside it, close it. Its first focus goes to what has `data-autofocus`.
 */
export function Dialog(props: DialogProps) {
  // Beside the page, so that no form or table is around it.
  return props.opened ? createPortal(<Opened {...props} />, document.body) : null;
}

function Opened({ title, size, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    current?.querySelector<HTMLElement>("[data-autofocus]")?.focus();
    // Only a dialog that is closed before it goes gives the focus back.
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      className={classes["dialog"]}
      data-size={size}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className={classes["content"]}>
        <div className={classes["top"]}>
          <h2 id={titleId} className={classes["title"]}>
            {title}
          </h2>
          <CloseButton aria-label={strings.dialog.close} onClick={onClose} />
        </div>
        {children}
      </div>
    </dialog>
  );
}
