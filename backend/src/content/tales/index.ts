import type { Tale } from '../tale.ts';
import { aBao } from './aBao.ts';
import { baiQiulian } from './baiQiulian.ts';
import { cuZhi } from './cuZhi.ts';
import { geJin } from './geJin.ts';
import { hongYu } from './hongYu.ts';
import { huaBi } from './huaBi.ts';
import { huangYing } from './huangYing.ts';
import { huaPi } from './huaPi.ts';
import { huJiaNv } from './huJiaNv.ts';
import { jiaoNa } from './jiaoNa.ts';
import { laoshanDaoshi } from './laoshanDaoshi.ts';
import { lianCheng } from './lianCheng.ts';
import { lianXiang } from './lianXiang.ts';
import { luochaHaishi } from './luochaHaishi.ts';
import { luPan } from './luPan.ts';
import { nieXiaoqian } from './nieXiaoqian.ts';
import { pianPian } from './pianPian.ts';
import { qingFeng } from './qingFeng.ts';
import { shiQingxu } from './shiQingxu.ts';
import { shuChi } from './shuChi.ts';
import { touTao } from './touTao.ts';
import { wangLiulang } from './wangLiulang.ts';
import { wanXia } from './wanXia.ts';
import { xiangYu } from './xiangYu.ts';
import { xiaoCui } from './xiaoCui.ts';
import { xiFangping } from './xiFangping.ts';
import { xinShisiniang } from './xinShisiniang.ts';
import { yingNing } from './yingNing.ts';
import { zhongLi } from './zhongLi.ts';
import { zhuQing } from './zhuQing.ts';

/** In the order of the feed. */
export const tales: Tale[] = [
  nieXiaoqian,
  huaPi,
  yingNing,
  cuZhi,
  laoshanDaoshi,
  luochaHaishi,
  qingFeng,
  xiangYu,
  luPan,
  aBao,
  wangLiulang,
  huaBi,
  lianXiang,
  jiaoNa,
  huangYing,
  xiFangping,
  zhuQing,
  zhongLi,
  xiaoCui,
  geJin,
  baiQiulian,
  shiQingxu,
  huJiaNv,
  hongYu,
  pianPian,
  xinShisiniang,
  lianCheng,
  shuChi,
  wanXia,
  touTao,
];
