/** All texts of this remote, grouped by page. */
export const texts = {
  list: {
    title: '样例',
    empty: '这里还什么都没有',
  },
} as const;
