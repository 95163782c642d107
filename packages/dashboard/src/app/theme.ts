import { createTheme } from "@mantine/core";

/** Colours with enough contrast on both grounds; system fonts, so that nothing is loaded for them. */
export const theme = createTheme({
  primaryColor: "cyan",
  primaryShade: { light: 9, dark: 9 },
  fontFamily: "system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace",
  defaultRadius: "sm",
  respectReducedMotion: true,
});
