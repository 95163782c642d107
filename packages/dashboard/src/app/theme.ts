import { createTheme, Modal } from "@mantine/core";

/**
 * Colours with enough contrast on light and dark backgrounds; system fonts, so that none is
 * downloaded.
 */
export const theme = createTheme({
  primaryColor: "cyan",
  primaryShade: { light: 9, dark: 9 },
  fontFamily: "system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace",
  defaultRadius: "sm",
  respectReducedMotion: true,
  components: {
    // A dialog's header is not the page's banner landmark.
    Modal: Modal.extend({ defaultProps: { attributes: { header: { role: "presentation" } } } }),
  },
});
