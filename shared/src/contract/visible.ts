/** Characters without a shape: joiners, direction marks, selectors, fillers, annotations, controls. */
const shapeless = /[\p{Default_Ignorable_Code_Point}\p{Cc}\u2800\ufff9-\ufffb\u{1d159}]/gu;

export const withoutShapeless = (text: string): string => text.replace(shapeless, '');

/** Whether a text has no visible characters. Marks alone stand on nothing; a character that is new to this device counts. */
export const isBlank = (text: string): boolean => /^[\p{Z}\p{M}]*$/u.test(withoutShapeless(text));
