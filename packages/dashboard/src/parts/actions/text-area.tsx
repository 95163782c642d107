import { InputBase, type InputBaseProps } from "@mantine/core";
import type { ComponentProps } from "react";

type TextAreaProps = InputBaseProps &
  Omit<ComponentProps<"textarea">, keyof InputBaseProps> & { label: string; description: string };

/** Several lines of text, as high as its rows; the reader can make it higher. */
export function TextArea(props: TextAreaProps) {
  return <InputBase component="textarea" multiline style={{ "--input-resize": "vertical" }} {...props} />;
}
