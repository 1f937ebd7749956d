import { readFileSync } from 'node:fs';
import { BRAND, type Brand } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { messageOf, refused } from '../errors.ts';
import { parseAs, parseJson } from '../model/documents.ts';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML text and quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);

const COLORS = [
  'paper',
  'surface',
  'weak',
  'ink',
  'ink2',
  'ink3',
  'line',
  'accent',
  'on-accent',
  'jade',
  'gold',
] as const;
type Colors = Partial<Record<(typeof COLORS)[number], string>>;

/** Texts of a site's brand, and its light and dark colours by the names in `shared/src/ui/tokens.css`. */
export interface SiteBrand extends Brand {
  colors: { light: Colors; dark: Colors };
}

/** Shipped colours that are also used outside of stylesheets: in the browser's bar, the manifest and the icons. */
const SHIPPED = { light: { paper: '#f7f3ea', accent: '#b3392f', surface: '#fffdf8' }, dark: { paper: '#14120f' } };

const shortText = (most: number) =>
  v.pipe(
    v.string('must be a text'),
    v.check((text) => /^[^\p{Cc}\p{Cs}]*\S[^\p{Cc}\p{Cs}]*$/u.test(text), 'must be one line that shows something'),
    v.check((text) => [...text].length <= most, `must have at most ${most} characters`),
  );
const color = v.pipe(v.string(), v.regex(/^#[\da-f]{6}$/i, 'must be a colour like #b3392f'));
const colors = v.optional(
  v.strictObject(Object.fromEntries(COLORS.map((name) => [name, v.optional(color)]))),
  {},
) as unknown as v.GenericSchema<unknown, Colors>;

const brandSchema = v.strictObject({
  name: v.optional(shortText(20), BRAND.name),
  seal: v.optional(shortText(2), BRAND.seal),
  slogan: v.optional(shortText(40), BRAND.slogan),
  icp: v.optional(v.union([v.literal(''), shortText(40)]), BRAND.icp),
  colors: v.optional(v.strictObject({ light: colors, dark: colors }), { light: {}, dark: {} }),
});

/** Parses a configuration's `brand`; the shipped brand is the default. Throws refused with the invalid fields. */
export const siteBrand = (brand: unknown): SiteBrand =>
  parseAs(brandSchema, brand ?? {}, 'the brand of the configuration cannot be used', 'Correct it (docs/brand.md).');

/** Replaces the brand's placeholders in builds. */
export const withBrandTexts = (html: string, brand: Brand): string =>
  html.replace(/lz-brand\.(name|seal|slogan)-lz/g, (_, field: 'name' | 'seal' | 'slogan') => escapeHtml(brand[field]));

/** Share of the accent in `weak`, the background of selected items and the user's messages. */
const WEAK_SHARE = { light: 0.1, dark: 0.18 };

const channels = (color: string) => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

function mixColors(color: string, ground: string, share: number): string {
  const groundChannels = channels(ground);
  const parts = channels(color).map((part, index) =>
    Math.round(part * share + (groundChannels[index] ?? 0) * (1 - share)),
  );
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

const themeRules = (themeColors: Colors, theme: 'light' | 'dark'): string => {
  const { accent, paper = SHIPPED[theme].paper } = themeColors;
  const allColors: Colors = { ...(accent && { weak: mixColors(accent, paper, WEAK_SHARE[theme]) }), ...themeColors };
  const declarations = Object.entries(allColors).map(([name, value]) => `--${name}:${value}`);
  if (allColors.paper) declarations.push(`--veil:${allColors.paper}db`);
  return declarations.join(';');
};

/** CSS with the site's colours by theme, without functions that the oldest browsers lack; '' if none are set. */
function brandStyle({ colors: { light, dark } }: SiteBrand): string {
  const [day, night] = [themeRules(light, 'light'), themeRules(dark, 'dark')];
  return [
    day && `:root,[data-theme=light]{${day}}`,
    night && `@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${night}}}[data-theme=dark]{${night}}`,
    // print in light colours, also with a dark theme
    day && night && `@media print{:root,:root[data-theme]{${day}}}`,
  ]
    .filter(Boolean)
    .join('');
}

export const isShipped = ({ colors: { light, dark }, ...words }: SiteBrand): boolean =>
  JSON.stringify([words, light, dark]) === JSON.stringify([BRAND, {}, {}]);

/** True if the build's icons do not match the site's brand. */
export const hasOwnSeal = ({ seal, colors }: SiteBrand): boolean => seal !== BRAND.seal || Boolean(colors.light.accent);

/** Applies the brand to a page's template: texts, icon, colour of the browser's bar, and a style element. */
export function brandedTemplate(template: string, brand: SiteBrand): string {
  const { light, dark } = brand.colors;
  const style = brandStyle(brand);
  let html = withBrandTexts(template, brand);
  if (hasOwnSeal(brand)) {
    const icon = `data:image/svg+xml,${encodeURIComponent(brandIcon(brand))}`;
    html = html.replace(/(<link rel="icon"[^>]* href=")[^"]*/, (_, start: string) => start + icon);
  }
  for (const [scheme, paper] of [
    ['light', light.paper],
    ['dark', dark.paper],
  ])
    if (paper)
      html = html.replace(
        new RegExp(`(<meta name="theme-color" content=")[^"]*("[^>]*data-scheme="${scheme}")`),
        (_, start: string, end: string) => start + paper + end,
      );
  return style ? html.replace('<!--lz:preloads-->', () => `<style>${style}</style>\n<!--lz:preloads-->`) : html;
}

/** SVG of the seal. With `bleed`, it fills the whole square, for systems that apply their own mask. */
export function brandIcon({ seal, colors }: SiteBrand, bleed = false): string {
  const [ground, sign] = [
    colors.light.accent ?? SHIPPED.light.accent,
    colors.light['on-accent'] ?? SHIPPED.light.surface,
  ];
  const size = [...seal].length > 1 ? 24 : 38;
  const [at, side, round] = bleed ? [0, 64, 0] : [3, 58, 9];
  const frame = bleed ? { at: 10, side: 44 } : { at: 7.5, side: 49 };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect x="${at}" y="${at}" width="${side}" height="${side}" rx="${round}" fill="${ground}"/><rect x="${frame.at}" y="${frame.at}" width="${frame.side}" height="${frame.side}" rx="6" fill="none" stroke="${sign}" stroke-width="1.6"/><text x="32" y="${32 + size * 0.355}" text-anchor="middle" font-family="'Songti SC','Noto Serif SC','Noto Serif CJK SC',serif" font-weight="700" font-size="${bleed ? size * 0.8 : size}" fill="${sign}">${escapeHtml(seal)}</text></svg>`;
}

export function brandedManifest(text: string, { name, slogan, colors }: SiteBrand): string {
  const paper = colors.light.paper && { background_color: colors.light.paper, theme_color: colors.light.paper };
  return `${JSON.stringify({ ...JSON.parse(text), name, short_name: name, description: slogan, ...paper }, null, 2)}\n`;
}

/** Configuration of a site for its pages; `docs/deploying/settings.md` lists the fields. */
export type SiteConfig = Record<string, unknown>;

const text = v.optional(v.pipe(v.string(), v.nonEmpty('must not be empty')));
const wholeNumber = (most: number) =>
  v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(1, 'must be 1 or more'), v.maxValue(most));
/** Channel of one user. Without `{id}`, all users would share it. */
const channel = v.pipe(v.string(), v.includes('{id}', 'must contain {id}, which stands for the user'));

const schema = v.strictObject({
  /** Parsed by `siteBrand`. */
  brand: v.optional(v.unknown()),
  rechargePackages: v.optional(
    v.array(
      v.strictObject({
        id: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _')),
        points: wholeNumber(10_000_000),
        priceCents: wholeNumber(100_000_000),
        label: text,
      }),
    ),
  ),
  paymentProvider: v.optional(v.nullable(v.strictObject({ name: v.string(), checkoutUrl: v.string() }))),
  support: v.optional(v.strictObject({ operator: text, email: text, hours: text, wechat: text })),
  legal: v.optional(v.strictObject({ terms: text, privacy: text, version: text })),
  realtime: v.optional(
    v.strictObject({ key: text, host: text, port: v.optional(wholeNumber(65_535)), channel: v.optional(channel) }),
  ),
  devTools: v.optional(v.boolean()),
  /** Rules of a backend; each consumer parses the fields that it knows. */
  rules: v.optional(v.record(v.string(), v.unknown())),
});

/** Reads a site's configuration. Throws refused with `label`, each invalid field and the cure. */
export function readSiteConfig(file: string, label = file): SiteConfig {
  const cure = 'Correct what is named here (docs/deploying/settings.md, HOST_CONFIG).';
  const value = parseJson(readText(file, label), label, cure);
  const config = parseAs(schema, value, `${label} is no configuration of a site`, cure);
  siteBrand(config.brand);
  return config;
}

function readText(file: string, label: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw refused(`${label} cannot be read (${messageOf(cause)})`, 'Correct the path, or the rights of the file.');
  }
}
