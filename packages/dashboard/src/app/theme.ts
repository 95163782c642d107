import { createTheme, Modal } from "@mantine/core";

/** Colours with enough contrast on both grounds; system fonts, so that nothing is loaded for them. */
export const theme = createTheme({
  primaryColor: "cyan",
  primaryShade: { light: 9, dark: 9 },
  fontFamily: "system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace",
  defaultRadius: "sm",
  respectReducedMotion: true,
  components: {
    // A dialog's head is no banner of the page.
    Modal: Modal.extend({ defaultProps: { attributes: { header: { role: "presentation" } } } }),
  },
});
