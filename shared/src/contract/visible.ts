/** Characters without a shape: joiners, direction marks, selectors, fillers, annotations, controls. */
const SHAPELESS = '\\p{Default_Ignorable_Code_Point}\\p{Cc}\\u2800\\ufff9-\\ufffb\\u{1d159}';

const shapeless = new RegExp(`[${SHAPELESS}]`, 'gu');
/** Marks alone stand on nothing. Unassigned characters count as visible: a newer device draws them. */
const visible = new RegExp(`[^\\p{Z}\\p{M}${SHAPELESS}]`, 'u');

export const withoutShapeless = (text: string): string => text.replace(shapeless, '');

/** Whether a text has no visible characters. */
export const isBlank = (text: string): boolean => !visible.test(text);
