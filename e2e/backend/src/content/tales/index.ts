import type { Tale } from '../tale.ts';
import { nieXiaoqian } from './nieXiaoqian.ts';

export const tales: Tale[] = [nieXiaoqian];
