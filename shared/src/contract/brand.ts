/** The shipped brand; a site's configuration overrides each field (docs/brand.md). */
export const BRAND = {
  name: '聊斋',
  /** one or two characters, drawn in the red seal and in every icon */
  seal: '聊',
  slogan: '一灯一卷，与故事里的人说说话',
  /** the ICP number (备案号) at the foot of 我的; '' without one */
  icp: '',
};

export type Brand = typeof BRAND;
