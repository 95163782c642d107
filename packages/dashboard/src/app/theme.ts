import { createTheme } from "@mantine/core";

/** Colours with enough contrast on light and dark backgrounds; the font comes from the service. */
export const theme = createTheme({
  primaryColor: "cyan",
  primaryShade: { light: 9, dark: 9 },
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace",
  // Blackish blue, so that what is raised is lighter.
  colors: {
    dark: [
      "#dde3e7",
      "#a6adb4",
      "#8a949c",
      "#5c6770",
      "#38444e",
      "#303b45",
      "#27313a",
      "#1a2127",
      "#151b20",
      "#11161a",
    ],
  },
  defaultRadius: "sm",
  respectReducedMotion: true,
});
