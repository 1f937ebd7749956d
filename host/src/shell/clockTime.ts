const twoDigits = (value: number) => String(value).padStart(2, '0');

/** `14:05`, in the reader's own time zone. */
export const clockTime = (time: Date) => `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
