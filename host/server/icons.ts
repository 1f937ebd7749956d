import { createRequire } from 'node:module';
import { renderAsync } from '@resvg/resvg-js';

const modules = createRequire(import.meta.url);

/** For machines without Chinese fonts; draws Latin seals too. */
const font = {
  loadSystemFonts: false,
  fontFiles: [modules.resolve('@expo-google-fonts/zcool-xiaowei/400Regular/ZCOOLXiaoWei_400Regular.ttf')],
  defaultFontFamily: 'ZCOOL XiaoWei',
};

const drawn = new Map<string, Promise<Buffer>>();

/** A drawing as PNG, each drawn once. */
export function drawIcon(svg: string, side: number): Promise<Buffer> {
  const key = `${side} ${svg}`;
  const icon =
    drawn.get(key) ?? renderAsync(svg, { font, fitTo: { mode: 'width', value: side } }).then((image) => image.asPng());
  drawn.set(key, icon);
  return icon;
}
