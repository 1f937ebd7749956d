import { createSlice, type PayloadAction } from '@reduxjs/toolkit';

export interface Toast {
  id: number;
  text: string;
  kind: 'plain' | 'success' | 'error';
  actionLabel?: string;
}

export const toastsSlice = createSlice({
  name: 'toasts',
  initialState: [] as Toast[],
  reducers: {
    toastShown: (state, { payload }: PayloadAction<Toast>) => {
      state.push(payload);
    },
    toastDismissed: (state, { payload }: PayloadAction<number>) => state.filter((toast) => toast.id !== payload),
  },
});
