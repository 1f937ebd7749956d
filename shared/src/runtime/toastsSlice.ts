import { createSlice, type PayloadAction } from '@reduxjs/toolkit';

export interface StoredToast {
  id: string;
  text: string;
  kind: 'plain' | 'success' | 'error';
  actionLabel?: string;
}

export const toastsSlice = createSlice({
  name: 'toasts',
  initialState: [] as StoredToast[],
  reducers: {
    toastRaised: (toasts, { payload }: PayloadAction<StoredToast>) => {
      toasts.push(payload);
    },
    toastDismissed: (toasts, { payload }: PayloadAction<string>) => toasts.filter(({ id }) => id !== payload),
  },
});
