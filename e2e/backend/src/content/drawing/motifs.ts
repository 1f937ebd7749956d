export const motifNames = ['fox', 'crane', 'moon', 'lotus', 'lantern', 'inkstone'];
